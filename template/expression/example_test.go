package expression_test

import (
	"fmt"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/template/expression"
)

func ExampleEvaluate() {
	input := tree.Obj(
		tree.F("replicas", tree.Str("${{ parameters.replicas }}")),
		tree.F("title", tree.Str("Add ${{ parameters.name | upper }}")),
		tree.F("zone", tree.Str("${{ parameters.zone }}")),
	)
	scope := expression.Scope{"parameters": tree.Obj(tree.F("name", tree.Str("shop")), tree.F("replicas", tree.Number(3)))}
	out, err := expression.Evaluate(input, scope, nil)
	fmt.Println(string(tree.AppendJSON(nil, out, "")), err)
	// Output: {"replicas":3,"title":"Add SHOP"} <nil>
}
