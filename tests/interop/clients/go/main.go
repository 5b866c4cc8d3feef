// SPDX-License-Identifier: Apache-2.0
// franz-go and kafka-go against a broker. usage: interop franz|segmentio first|second ADDRESS TOPIC (see README.md for the two steps)
package main

import (
	"fmt"
	"os"
)

const each = 1000

func expect(what string, ok bool) {
	if !ok {
		fmt.Fprintf(os.Stderr, "%s: %s\n", os.Args[1], what)
		os.Exit(1)
	}
}

func must(err error) {
	if err != nil {
		expect(err.Error(), false)
	}
}

func main() {
	steps := map[string]func(string, string){"franz first": franzFirst, "franz second": franzSecond,
		"segmentio first": segmentioFirst, "segmentio second": segmentioSecond}
	steps[os.Args[1]+" "+os.Args[2]](os.Args[3], os.Args[4])
}
