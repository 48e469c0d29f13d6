# Sums up the output of go test -v: which tests passed in a later attempt only, and each
# test that failed with the last -v max lines that it said.
function cut(s) { return length(s) > 700 ? substr(s, 1, 700) " ..." : s }
function keep(name) { said[name, ++lines[name]] = $0 }
/^=== (RUN|NAME|CONT) / { at = $3; next }
/^=== / { next }
/^ *--- (PASS|FAIL|SKIP): / {
	count[$2]++
	at = $3
	if ($2 == "FAIL:") failed[++fails] = at
	next
}
/^(ok|PASS|FAIL|\?)/ {
	at = ""
	if (/^FAIL.*\[/) keep("")
	next
}
/attempt [0-9]+ of [0-9]+: / && !(at in retried) { retried[at]; again[++agains] = at }
{ keep(at) }
END {
	if (lines[""]) failed[++fails] = "" # what was not built, and what is no test's
	for (i = 1; i <= fails; i++) {
		name = failed[i]
		if (!lines[name]) continue # tests of it failed
		printf "\nFAILED %s\n", name == "" ? "outside of the tests" : name
		from = lines[name] > max ? lines[name] - max + 1 : 1
		if (from > 1) printf "    ... %d lines before\n", from - 1
		for (j = from; j <= lines[name]; j++) print cut(said[name, j])
	}
	if (agains) printf "\n%d scenarios needed more than one attempt:\n", agains
	for (i = 1; i <= agains; i++) {
		print "  " again[i]
		for (j = 1; j <= lines[again[i]]; j++)
			if (said[again[i], j] ~ /attempt [0-9]+ of [0-9]+: /) print cut(said[again[i], j])
	}
	printf "\n%d passed, %d failed, %d skipped\n", count["PASS:"], count["FAIL:"], count["SKIP:"]
}
