package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/getdwell/dwell/cases/expect"
)

// playPair plays everything there is about one switch.
func (st *stage) playPair(ctx context.Context, p *pair, opt options, results expect.Results) error {
	at := *p // its rate is found anew each time
	p = &at
	sc, err := st.scene(ctx, p)
	if err != nil {
		return err
	}
	defer sc.stop()
	fmt.Fprintf(st.out, "\n== %s %s\n", st.Name, p.Name)
	if opt.keep {
		return sc.keep(ctx)
	}
	if err := sc.setRate(ctx); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	if err := sc.compare(ctx, take{scenario: p.Name, rate: p.Rate, seconds: p.Seconds}, results); err != nil {
		return err
	}
	if st.OverloadSeconds > 0 && !opt.quick {
		knee, err := sc.knee(ctx, false)
		if err != nil {
			return err
		}
		rate := knee * st.OverloadPercent / 100
		fmt.Fprintf(st.out, "\nthe bad variant answers %.0f requests/s at most; overload is %.0f\n", knee, rate)
		if err := sc.compare(ctx, take{scenario: "overload", rate: rate, seconds: st.OverloadSeconds}, results); err != nil {
			return err
		}
	}
	return nil
}

// compare plays the bad variant, writes the prediction down, then plays the fixed one.
// The take's scenario is the name of the pair, or "overload".
func (sc *scene) compare(ctx context.Context, t take, results expect.Results) error {
	at := t.scenario
	var variants []*played
	var predicted expect.Impact
	for _, variant := range []string{"bad", "fixed"} {
		t.scenario, t.variant = variant+"/"+at, variant
		p, err := sc.play(ctx, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.scenario, err)
		}
		p.print(sc.out)
		if err := sc.look(ctx, p.File); err != nil {
			return err
		}
		if results.Numbers[t.scenario], err = sc.under(ctx, p.File); err != nil {
			return err
		}
		results.Diagnoses[t.scenario] = p.Diagnosis
		results.Clients[t.scenario] = expect.Client{P50: p.Client.P50, P99: p.Client.P99, Rate: p.Client.Rate}
		if variant == "bad" {
			if predicted, err = sc.predict(at, p); err != nil {
				return err
			}
		}
		variants = append(variants, p)
	}
	against(results.Numbers["bad/"+at], results.Numbers["fixed/"+at])
	bad, fixed := variants[0].Client, variants[1].Client
	results.Savings[at+" p50"] = expect.Saving{Predicted: predicted.P50, Measured: bad.P50 - fixed.P50}
	results.Savings[at+" p99"] = expect.Saving{Predicted: predicted.P99, Measured: bad.P99 - fixed.P99}
	if sc.pair.Incident != "" {
		fmt.Fprintf(sc.out, "\n  the incident: %s\n", sc.pair.Incident)
	}
	fmt.Fprintf(sc.out, "  here: p50 %.2f ms bad, %.2f fixed; p99 %.2f ms bad, %.2f fixed\n", ms(bad.P50), ms(fixed.P50), ms(bad.P99), ms(fixed.P99))
	return nil
}

// predict writes the saving of the first finding to a file, before the fixed variant
// has run.
func (sc *scene) predict(at string, bad *played) (expect.Impact, error) {
	var first expect.Item
	if len(bad.Diagnosis.Findings) > 0 {
		first = bad.Diagnosis.Findings[0]
	}
	text, err := json.MarshalIndent(map[string]any{
		"written": time.Now().UTC(), "scenario": bad.Scenario, "finding": first.ID,
		"p50_saving_ns": first.Impact.P50, "p99_saving_ns": first.Impact.P99,
	}, "", " ")
	if err != nil {
		return first.Impact, err
	}
	name := filepath.Join(sc.Work, "predicted-"+at+".json")
	fmt.Fprintf(sc.out, "  predicted before the fixed variant runs, in %s: p50 -%.2f ms, p99 -%.2f ms\n", name, ms(first.Impact.P50), ms(first.Impact.P99))
	return first.Impact, os.WriteFile(name, append(text, '\n'), 0o644)
}
