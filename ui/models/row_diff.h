// SPDX-License-Identifier: Apache-2.0
// RowDiffModel::followRows(): brings the rows of a table model to a new order by removing, inserting and moving, never by a reset, so
// that selection, scroll position and the row under the pointer stay what they are.
//
// `rows` is the model's own vector, `wanted` the keys in their new order (no key twice), `key_of(row)` a row's key and
// `make(key)` a new row. Cost: O(n) where nothing changed, O(n log n) otherwise. UI thread only.
#pragma once

#include <QAbstractItemModel>
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace hw::ui {

// Gives access to the protected signals of a model; models derive it privately.
class RowDiffModel : public QAbstractTableModel {
 public:
  using QAbstractTableModel::QAbstractTableModel;

 protected:
  // True: rows came, went or moved.
  template <typename Row, typename Key, typename KeyOf, typename Make>
  bool followRows(std::vector<Row>& rows, const std::vector<Key>& wanted, const KeyOf& key_of, const Make& make) {
    const bool same = rows.size() == wanted.size() &&
                      std::equal(rows.begin(), rows.end(), wanted.begin(),
                                 [&](const Row& row, const Key& key) { return key_of(row) == key; });
    if (same) {
      return false;
    }
    std::map<Key, int> place;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      place.emplace(wanted[i], static_cast<int>(i));
    }
    // What is gone, in runs from the end.
    for (int last = static_cast<int>(rows.size()) - 1; last >= 0; --last) {
      if (place.count(key_of(rows[static_cast<std::size_t>(last)])) != 0) {
        continue;
      }
      int first = last;
      while (first > 0 && place.count(key_of(rows[static_cast<std::size_t>(first - 1)])) == 0) {
        --first;
      }
      beginRemoveRows({}, first, last);
      rows.erase(rows.begin() + first, rows.begin() + last + 1);
      endRemoveRows();
      last = first;
    }
    // What stays may have another order.
    const auto before = [&](const Row& a, const Row& b) { return place.at(key_of(a)) < place.at(key_of(b)); };
    if (!std::is_sorted(rows.begin(), rows.end(), before)) {
      Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
      std::vector<int> order(rows.size());
      for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = static_cast<int>(i);
      }
      std::sort(order.begin(), order.end(), [&](int a, int b) {
        return before(rows[static_cast<std::size_t>(a)], rows[static_cast<std::size_t>(b)]);
      });
      std::vector<int> now_at(rows.size());
      std::vector<Row> sorted;
      sorted.reserve(rows.size());
      for (std::size_t i = 0; i < order.size(); ++i) {
        now_at[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
        sorted.push_back(std::move(rows[static_cast<std::size_t>(order[i])]));
      }
      rows = std::move(sorted);
      const QModelIndexList old = persistentIndexList();
      QModelIndexList moved;
      moved.reserve(old.size());
      for (const QModelIndex& each : old) {
        moved << index(now_at[static_cast<std::size_t>(each.row())], each.column());
      }
      changePersistentIndexList(old, moved);
      Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
    }
    // What is new, in runs.
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (i < rows.size() && key_of(rows[i]) == wanted[i]) {
        continue;
      }
      std::size_t end = i;
      while (end < wanted.size() && !(i < rows.size() && key_of(rows[i]) == wanted[end])) {
        ++end;
      }
      std::vector<Row> fresh;
      fresh.reserve(end - i);
      for (std::size_t k = i; k < end; ++k) {
        fresh.push_back(make(wanted[k]));
      }
      beginInsertRows({}, static_cast<int>(i), static_cast<int>(end) - 1);
      rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(fresh.begin()),
                  std::make_move_iterator(fresh.end()));
      endInsertRows();
      i = end - 1;
    }
    return true;
  }
};

}  // namespace hw::ui
