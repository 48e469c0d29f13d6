//go:build !linux

package procfs

import "errors"

func ask(question) (answer, error) { return answer{}, errors.ErrUnsupported }

func identify(string) (Identity, error) { return Identity{}, errors.ErrUnsupported }
