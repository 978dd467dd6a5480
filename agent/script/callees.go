package script

import (
	"reflect"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// A call of a tool that there is not fails within the engine, which says only
// that there is no such member, while a name that a program looks for has to be
// undefined. So calls go to an object of their own, whose members can all be
// called: that of a tool that there is not says so.

// calledTools is the name of that object, which no program can write.
const calledTools = "tools that are called"

// leadCalls leads the calls of members of tools to calledTools. Where a program
// has tools in any other place, it may be a name of its own: it is left as it is.
func leadCalls(p *ast.Program) {
	var called []*ast.Identifier
	all, members := 0, 0
	walk(reflect.ValueOf(p.Body), func(node any) {
		switch node := node.(type) {
		case ast.Identifier:
			all += counts(&node)
		case ast.DotExpression:
			members += counts(node.Left) + counts(&node.Identifier)
		case ast.BracketExpression:
			members += counts(node.Left)
		case ast.CallExpression:
			if owner := ownerOf(node.Callee); counts(owner) > 0 {
				called = append(called, owner.(*ast.Identifier))
			}
		}
	})
	if all > members {
		return
	}
	for _, name := range called {
		name.Name = calledTools
	}
}

// counts is 1 for the name tools, and 0 for anything else.
func counts(node ast.Expression) int {
	if name, ok := node.(*ast.Identifier); ok && name.Name == "tools" {
		return 1
	}
	return 0
}

// ownerOf is what an expression is a member of; nil: of nothing.
func ownerOf(member ast.Expression) ast.Expression {
	switch member := member.(type) {
	case *ast.DotExpression:
		return member.Left
	case *ast.BracketExpression:
		return member.Left
	}
	return nil
}

// walk visits the structs of a tree. Declarations that are listed once more
// beside the body that holds them are visited there.
func walk(v reflect.Value, visit func(node any)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		walk(v.Elem(), visit)
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	case reflect.Struct:
		visit(v.Interface())
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Name != "DeclarationList" {
				walk(v.Field(i), visit)
			}
		}
	}
}

// addCalledTools makes the object that calls go to, which no list of names shows.
func (e *engine) addCalledTools(tools *goja.Object) {
	called := e.vm.NewProxy(tools, &goja.ProxyTrapConfig{
		Get: func(_ *goja.Object, name string, _ goja.Value) goja.Value {
			if tool := tools.Get(name); tool != nil {
				return tool
			}
			return e.vm.ToValue(func(goja.FunctionCall) goja.Value { panic(e.vm.NewTypeError("%s", e.noTool(name))) })
		},
	})
	_ = e.vm.GlobalObject().DefineDataProperty(calledTools, e.vm.ToValue(called), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
}
