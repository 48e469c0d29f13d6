package hypotheses

import "github.com/getdwell/dwell/recording"

const (
	waitReadable = "/lib/ruby/3.1.0/net/protocol.rb:Net::BufferedIO#rbuf_fill < /gems/aws/sts.rb:Aws::STS::Client#assume_role < "
	inBuild      = waitReadable + "/gems/aws/credentials.rb:Aws::AssumeRoleCredentials#initialize < /gems/aws/client.rb:Aws::DynamoDB::Client#initialize < /srv/home.rb:Home.client < /srv/home.rb:Home.show"
	inCall       = waitReadable + "/srv/home.rb:Home.acting_as < /srv/home.rb:Home.show"
	resolving    = "/gems/aws/config.rb:Aws::Config#resolve < /gems/aws/client.rb:Aws::DynamoDB::Client#initialize < /srv/home.rb:Home.client < /srv/home.rb:Home.show"
	rendering    = "/srv/home.rb:Home.render < /srv/home.rb:Home.show"
)

// credentialStories are services that fetch credentials, or build what needs them.
func credentialStories() []story {
	ruby := func(hooks string, each func(t *thread, i int)) func() *recording.Recording {
		return func() *recording.Recording {
			return done(serve(without(newScenario(recording.RuntimeRuby), hooks), each), 30)
		}
	}
	unseen := ruby(allHooks, func(t *thread, _ int) { t.assumeRole(""); keptCall(t, 600*us) })
	tokens := ruby(stackHooks, func(t *thread, _ int) { t.assumeRole(inCall); keptCall(t, 600*us) })
	built := ruby(stackHooks, func(t *thread, _ int) {
		t.computeIn(3000*us, resolving)
		t.assumeRole(inBuild)
		keptCall(t, 600*us)
		t.computeIn(1000*us, rendering)
	})
	return []story{
		{"credential-fetch/supported", "Every request assumes a role at STS, 5 ms, before it asks the database:\nread | AssumeRole 5 ms | answer 600 us | write", tokens},
		{"credential-fetch/refuted", "A thread in the background assumes the role, every 100 ms; requests ask the database only.", func() *recording.Recording {
			s := serve(without(newScenario(recording.RuntimeRuby), allHooks), func(t *thread, _ int) { keptCall(t, 600*us) })
			b := &thread{scenario: s, id: 2, at: us}
			s.add(us, &recording.Thread{ID: 2, TID: 102, Process: 1, Name: "refresher"})
			s.add(us, &recording.ThreadState{Thread: 2, State: recording.OffSleep, Syscall: "futex"})
			for until := s.end; b.at < until-200_000*us; {
				b.sleep(b.at+100_000*us, 10*us, "futex")
				b.assumeRole("")
			}
			return done(s, 30)
		}},
		{"credential-fetch/undecided", "Every request asks one host over TLS, 5 ms: whether for credentials is not seen.",
			ruby(allHooks, func(t *thread, _ int) {
				if t.kept == nil {
					t.kept = t.dial(200 * us)
					t.handshake(t.kept, 200*us, 900*us)
				}
				t.sealed(t.kept, 5000*us)
			})},
		{"client-per-request/supported", "Every request builds a client, 3 ms of own CPU, which assumes a role, 5 ms; then it asks the database and renders, 1 ms.", built},
		{"client-per-request/pool-supported", "Every request opens a connection, asks twice on it and closes it.",
			ruby(allHooks, func(t *thread, _ int) {
				o := t.dial(1500 * us)
				for range 2 {
					t.call(o, 600*us, "/items/{}")
				}
				t.hangUp(o, recording.ClosedByUs)
			})},
		{"client-per-request/churn-refuted", "Every request opens a connection, asks once on it and closes it: a client that keeps none.",
			ruby(allHooks, func(t *thread, _ int) {
				o := t.dial(1500 * us)
				t.call(o, 600*us, "/items/{}")
				t.hangUp(o, recording.ClosedByUs)
			})},
		{"client-per-request/refuted", "Every request assumes a role of its own, while nothing is built.", tokens},
		{"refresh-under-lock/credentials-supported", "Four requests come at once; each assumes a role, 5 ms, with a lock in its hand.", func() *recording.Recording {
			refresh := locked(token, func(t *thread) {
				t.assumeRole("com.amazonaws.Sts.call < com.shop.Tokens.current < com.shop.Handler.handle")
			})
			return done(bursts(newScenario(recording.RuntimeJVM), 4, refresh), 30)
		}},
		{"refresh-under-lock/ahead-supported", "Four requests come at once and ask a table of sessions, 300 us, with a lock in their hand; in every third burst the first finds the credentials old and assumes a role before, 5 ms:\nexec-1 |role 5|.3|   exec-2 wait 5.3 |.3|   exec-3 wait 5.6 |.3|   exec-4 wait 5.9 |.3|",
			func() *recording.Recording {
				m, last := &mutex{}, -1
				return done(bursts(newScenario(recording.RuntimeJVM), 4, func(t *thread, burst int) {
					t.enter(m, token)
					if burst%3 == 0 && burst != last {
						last = burst
						t.assumeRole("com.amazonaws.Sts.call < com.shop.Tokens.current < com.shop.Handler.handle")
					}
					keptCall(t, 300*us)
					t.leave(m)
				}), 30)
			}},
		{"client-per-request/undecided", "Every request assumes a role; stacks were not recorded.", unseen},
	}
}

// assumeRole asks STS for credentials, 5 ms, in some code; the connection is kept.
func (t *thread) assumeRole(path string) {
	if t.sts == nil {
		t.sts = t.dial(200 * us)
	}
	o := t.sts
	t.compute(20 * us)
	at := t.chunk(o.id, &o.bytes, recording.Write, 80, 0)
	t.add(t.at, &recording.HTTPRequest{Conn: o.id, Offset: at, Head: 80, Method: "POST", Route: "/", Host: "sts.test", Operation: "AssumeRole"})
	arrives := t.at + 5000*us
	t.blocked(arrives, 10*us, "recvfrom", path)
	t.compute(10 * us)
	at = t.chunk(o.id, &o.bytes, recording.Read, 300, arrives)
	t.add(t.at, &recording.HTTPResponse{Conn: o.id, Offset: at, Head: 50, Length: 250, Status: 200})
}
