package main

import (
	"context"
	"fmt"
)

// kneeWorkers always have one request each while the knee is measured, which needs no other warm-up than
// the first seconds of that.
const (
	kneeWorkers = "16"
	kneeWarm    = 3 // seconds
	kneeSeconds = 5
)

// sustainedSeconds is how long the fixed variant must hold its SLA at a rate.
const sustainedSeconds = 8

// setRate finds what both variants of the pair are played at.
func (sc *scene) setRate(ctx context.Context) (err error) {
	switch p := sc.pair; {
	case p.SLA.MS > 0:
		p.Rate, err = sc.sustained(ctx)
	case p.KneePercent > 0:
		p.Rate, err = sc.moderate(ctx)
		p.WarmRate = min(p.WarmRate, p.Rate)
	}
	return err
}

// knee measures how many requests per second the bad variant can answer, while it is recorded or not.
func (sc *scene) knee(ctx context.Context, recorded bool) (float64, error) {
	service, err := sc.start(ctx, "bad")
	if err != nil {
		return 0, err
	}
	defer service.Stop()
	if recorded {
		recorder, err := sc.record(ctx, service.PID(), take{scenario: "rates"})
		if err != nil {
			return 0, err
		}
		defer recorder.Stop()
	}
	if _, err := sc.send(ctx, kneeWarm, "-workers", kneeWorkers); err != nil {
		return 0, fmt.Errorf("looking for the knee: warming up: %w", err)
	}
	s, err := sc.send(ctx, kneeSeconds, "-workers", kneeWorkers)
	if err != nil {
		return 0, fmt.Errorf("looking for the knee: %w", err)
	}
	return s.Rate, nil
}

// moderate is the pair's rate, but no more than its share of what the bad variant answers while it is
// recorded: an incident of slow requests is another where there are too many, as on a slow machine.
func (sc *scene) moderate(ctx context.Context) (float64, error) {
	knee, err := sc.knee(ctx, true)
	if err != nil {
		return 0, err
	}
	rate := min(sc.pair.Rate, knee*sc.pair.KneePercent/100)
	fmt.Fprintf(sc.out, "the bad variant answers %.0f requests/s at most while it is recorded; both are played at %.0f\n", knee, rate)
	return rate, nil
}

// spare is the part of the highest rate that holds an SLA which is left unused: where a
// service only just holds it, chance decides whether it does the next time.
const spare = 0.25

// sustained is the highest of the SLA's rates at which the fixed variant holds it
// while it is being recorded, less what is to spare.
func (sc *scene) sustained(ctx context.Context) (float64, error) {
	service, err := sc.service(ctx, "fixed")
	if err != nil {
		return 0, err
	}
	defer service.Stop()
	recorder, err := sc.record(ctx, service.PID(), take{scenario: "rates"})
	if err != nil {
		return 0, err
	}
	defer recorder.Stop()
	best := 0.0
	for _, rate := range sc.pair.SLA.Rates {
		held, err := sc.holds(ctx, rate)
		if err == nil && !held {
			// Other work on the machine can only make it fail.
			held, err = sc.holds(ctx, rate)
		}
		if err != nil {
			return 0, err
		}
		if !held {
			break
		}
		best = rate
	}
	if best == 0 {
		return 0, fmt.Errorf("the fixed variant does not answer 99 %% of %.0f requests/s within %.0f ms (is the machine busy with something else?)", sc.pair.SLA.Rates[0], sc.pair.SLA.MS)
	}
	fmt.Fprintf(sc.out, "the fixed variant holds p99 < %.0f ms up to %.0f requests/s here; both are played at %.0f %% of it\n", sc.pair.SLA.MS, best, 100*(1-spare))
	return best * (1 - spare), nil
}

// holds tells whether the service that runs holds the SLA at a rate.
func (sc *scene) holds(ctx context.Context, rate float64) (bool, error) {
	s, err := sc.send(ctx, sustainedSeconds, "-rate", fmt.Sprint(rate))
	if err != nil {
		return false, err
	}
	fmt.Fprintf(sc.out, "  fixed at %4.0f requests/s: p50 %.2f ms, p99 %.2f ms\n", rate, ms(s.P50), ms(s.P99))
	return ms(s.P99) < sc.pair.SLA.MS, nil
}
