package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// Decimal is a number in millionths, written in JSON as a decimal number.
type Decimal int64

const unit = 1_000_000

// MarshalJSON writes 250000 as 0.25.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalJSON reads a decimal number of at most six places.
func (d *Decimal) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("decimal %q: %w", b, err)
	}
	if f < 0 {
		*d = Decimal(f*unit - 0.5)
	} else {
		*d = Decimal(f*unit + 0.5)
	}
	return nil
}

// String returns the shortest decimal form.
func (d Decimal) String() string {
	sign, v := "", int64(d)
	if v < 0 {
		sign, v = "-", -v
	}
	s := sign + strconv.FormatInt(v/unit, 10)
	if frac := v % unit; frac != 0 {
		s += "." + strings.TrimRight(fmt.Sprintf("%06d", frac), "0")
	}
	return s
}

func share(part, whole int64) Decimal { return Decimal(diagnosis.ShareOf(part, whole)) }

// value converts the value of an evidence from its unit of measurement.
func value(v int64, u diagnosis.Unit) Decimal {
	switch u {
	case diagnosis.UnitShare:
		return Decimal(v)
	case diagnosis.UnitRate, diagnosis.UnitRatio, diagnosis.UnitByteRate:
		return Decimal(v * 1000)
	}
	return Decimal(v * unit)
}
