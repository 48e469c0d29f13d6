package report

import (
	"io"

	"github.com/getdwell/dwell/internal/timeline"
)

// ShowText writes requests as waterfalls.
func ShowText(w io.Writer, tl *timeline.Timeline, f Filter, o TextOptions) error { return nil }
