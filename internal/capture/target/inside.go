package target

import (
	"fmt"

	"github.com/getdwell/dwell/internal/capture/target/container"
)

// Inside lists the processes of a container, a pod or a unit, by pid, and says which it is; never dwell itself,
// nor what started it. None is ErrNoProcess.
func Inside(c container.Choice) ([]Process, string, error) {
	found, err := container.Machine{}.Find(c)
	if err != nil {
		return nil, "", err
	}
	self := ourselves()
	var list []Process
	for _, pid := range found.PIDs {
		if self(pid) {
			continue
		}
		if p, err := Info(pid); err == nil { // else it ended meanwhile
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, "", fmt.Errorf("%s: %w in it that dwell could watch", found.What, ErrNoProcess)
	}
	return list, found.What, nil
}
