// Renders a Helm chart with Go's text/template, the engine that Helm uses, where Helm is missing.
// It has the functions that deploy/helm/parley uses; another one is an error of the parser.
//
//	go run main.go CHART < values.json    (values.json: {"Values": …, "Release": …, "Chart": …})
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"text/template"
)

func toYaml(value any) (string, error) {
	lines, err := block(value)
	return strings.Join(lines, "\n"), err
}

// block returns the lines of a value in YAML's block style; a scalar is written as JSON.
func block(value any) ([]string, error) {
	var lines []string
	switch one := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(one)) {
			below, err := block(one[key])
			if err != nil {
				return nil, err
			}
			if isNested(one[key]) {
				lines = append(append(lines, key+":"), indented(below, "  ")...)
			} else {
				lines = append(lines, key+": "+below[0])
			}
		}
	case []any:
		for _, item := range one {
			below, err := block(item)
			if err != nil {
				return nil, err
			}
			lines = append(lines, "- "+below[0])
			lines = append(lines, indented(below[1:], "  ")...)
		}
	}
	if len(lines) > 0 {
		return lines, nil
	}
	text, err := json.Marshal(value)
	return []string{string(text)}, err
}

func isNested(value any) bool {
	switch one := value.(type) {
	case map[string]any:
		return len(one) > 0
	case []any:
		return len(one) > 0
	}
	return false
}

func indented(lines []string, pad string) []string {
	var moved []string
	for _, line := range lines {
		moved = append(moved, pad+line)
	}
	return moved
}

func nindent(spaces int, text string) string {
	pad := "\n" + strings.Repeat(" ", spaces)
	return pad + strings.ReplaceAll(text, "\n", pad)
}

func dict(pairs ...any) (map[string]any, error) {
	made := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: key %v is no text", pairs[i])
		}
		made[key] = pairs[i+1]
	}
	return made, nil
}

func required(problem string, value any) (any, error) {
	if value == nil || value == "" {
		return nil, fmt.Errorf("%s", problem)
	}
	return value, nil
}

func functions(root *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out bytes.Buffer
			err := root.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"toYaml":     toYaml,
		"nindent":    nindent,
		"dict":       dict,
		"required":   required,
		"quote":      func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"list":       func(values ...any) []any { return values },
		"trunc":      func(n int, text string) string { return text[:min(n, len(text))] },
		"trimSuffix": func(end, text string) string { return strings.TrimSuffix(text, end) },
		"replace":    func(old, new, text string) string { return strings.ReplaceAll(text, old, new) },
		"sha256sum":  func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
		"int":        func(value float64) int { return int(value) },
		"default": func(other, value any) any {
			if value == nil || value == "" {
				return other
			}
			return value
		},
		"concat": func(lists ...[]any) []any {
			var all []any
			for _, one := range lists {
				all = append(all, one...)
			}
			return all
		},
		"has": func(wanted any, values []any) bool {
			for _, one := range values {
				if one == wanted {
					return true
				}
			}
			return false
		},
	}
}

func render(chart string) error {
	var values map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&values); err != nil {
		return err
	}
	root := template.New("chart").Option("missingkey=error")
	root.Funcs(functions(root))
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		return err
	}
	sort.Strings(paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := root.New(filepath.Base(path)).Parse(string(text)); err != nil {
			return err
		}
	}
	for _, path := range paths {
		if filepath.Ext(path) != ".yaml" {
			continue
		}
		fmt.Printf("---\n# Source: %s\n", filepath.Base(path))
		if err := root.ExecuteTemplate(os.Stdout, filepath.Base(path), values); err != nil {
			return err
		}
		fmt.Println()
	}
	return root.ExecuteTemplate(&bytes.Buffer{}, "NOTES.txt", values)
}

func main() {
	if err := render(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
