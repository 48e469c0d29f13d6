package report_test

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
)

// Each of 24 requests to GET /prices/{} makes a call of 2.5 ms on a new connection to db.test, and takes 3.02 ms.
func TestWhereChoosesRequests(t *testing.T) {
	tl, _ := load(t, story(t, "connection-churn/supported"), diagnosis.Options{})
	for text, want := range map[string]int{
		`duration>3ms`:                          24,
		`duration > 3.5ms`:                      0,
		`duration>=3ms and duration<1s`:         24,
		`id=3 or id=5`:                          2,
		`id=3 || id=5 && id=6`:                  1,
		`(id=3 or id=5) and id=5`:               1,
		`not id=3`:                              23,
		`!(id<20)`:                              4,
		`id!=3`:                                 23,
		`endpoint="GET /prices/{}"`:             24,
		`endpoint='GET /prices/'`:               0,
		`endpoint~prices`:                       24,
		`endpoint!~"^GET /pr"`:                  0,
		`peer=db.test`:                          24,
		`peer!=db.test`:                         0,
		`call~"^db" and new=1 and calls=1`:      24,
		`call~"^db.test$"`:                      24, // TLS hides the operation
		`status=200`:                            24,
		`status>=500 or tls>500us`:              24,
		`connect>299us and connect<400us`:       24,
		`on-cpu>1ms`:                            24,
		`lock>0us`:                              0,
		`unaccounted>1us`:                       0,
		`cause=remote and process>0`:            24,
		`cause!=remote or process=0`:            0,
		`unread-request<1ms and not(remote<1s)`: 0,
	} {
		w, err := report.ParseWhere(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := 0
		for i := range tl.Requests {
			if w.Match(tl, &tl.Requests[i]) {
				got++
			}
		}
		if got != want {
			t.Errorf("%s chooses %d requests, want %d", text, got, want)
		}
	}
}

func TestWhereSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		``:                         "it ends where a comparison is expected",
		`duration`:                 "what is it compared with? (as in duration>50ms)",
		`duration>`:                "a value is missing",
		`duration>fast`:            `"fast" is no duration`,
		`duration~50ms`:            "duration is a number",
		`endpoint>x`:               "endpoint is a text",
		`status=ok`:                `"ok" is no whole number`,
		`colour=red`:               `"colour" is nothing that requests have: there are duration, status,`,
		`endpoint~"("`:             "missing closing )",
		`(id=1`:                    "a parenthesis is not closed",
		`id=1 id=2`:                `what is "id" for?`,
		`"GetItem"`:                `compared with nothing (as in call~"GetItem")`,
		`id=1 and`:                 "it ends where a comparison is expected",
		strings.Repeat("(", 200):   "nested more than 64 deep",
		strings.Repeat("a", 5000):  "5000 characters, more than 4096",
		strings.Repeat("not ", 99): "nested more than 64 deep",
	} {
		if _, err := report.ParseWhere(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %s", text, err, want)
		}
	}
}

func FuzzWhere(f *testing.F) {
	for _, seed := range []string{`duration>50ms and call~"GetItem"`, `!(a`, `"`, `id=1 or not (peer!~'x')`, `duration>1e300s`} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		report.ParseWhere(text) // ends, and does not panic
	})
}
