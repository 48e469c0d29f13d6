package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// WhyJSON writes the report in the form of docs/contract.md.
func WhyJSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write the report as JSON: %w", err)
	}
	return nil
}
