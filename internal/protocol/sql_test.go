package protocol

import (
	"strings"
	"testing"
)

func TestSQLShapes(t *testing.T) {
	for text, want := range map[string]string{
		"select * from users where name = 'x'":                        "SELECT users",
		"SELECT u.id, o.id FROM shop.users u JOIN orders o ON true":   "SELECT users",
		"SELECT extract(epoch from now()), x FROM events":             "SELECT events",
		"SELECT (SELECT count(*) FROM items) FROM carts":              "SELECT carts",
		"SELECT * FROM (SELECT id FROM inner_table) q":                "SELECT inner_table",
		"( select 1 from a ) union select 2 from b":                   "SELECT a",
		"select 'it''s from secret' || $1, $$ from secret $$ from t":  "SELECT t",
		"select E'\\' from secret' from t":                            "SELECT t",
		"select '\\' from secret' from t":                             "SELECT", // depends on a setting
		"select $tag$ from secret $tag$, \"from\" from \"Big Table\"": "SELECT",
		"select 1":                  "SELECT 1",
		"/* ping */ SELECT 1 ;\n":   "SELECT 1",
		"select 1, secret":          "SELECT",
		"select 1; select * from a": "SELECT",
		"select 11":                 "SELECT",
		"-- from the basket page\nSELECT 1 FROM baskets":                            "SELECT baskets",
		"/* a /* nested */ comment */ update only stock set":                        "UPDATE stock",
		"insert into public.\"Orders\" (a) values ('S3')":                           "INSERT Orders",
		"INSERT INTO events_2024_01 SELECT * FROM other":                            "INSERT events_{}_{}",
		"select 1 is distinct from secret":                                          "SELECT",
		"select a is not distinct from secret from t":                               "SELECT t",
		"select distinct a from t":                                                  "SELECT t",
		"delete from a1b2c3d4":                                                      "DELETE {}",
		"with recent as (select * from orders) select * from recent":                "SELECT recent",
		"WITH gone AS (DELETE FROM a RETURNING *) INSERT INTO b SELECT * FROM gone": "INSERT b",
		"create table if not exists jobs (id int)":                                  "CREATE jobs",
		"drop index by_name":                                                        "DROP",
		"truncate table a, b":                                                       "TRUNCATE a",
		"copy events (id) from stdin":                                               "COPY events",
		"begin; select * from users":                                                "BEGIN",
		"EXPLAIN SELECT 1 FROM a":                                                   "EXPLAIN",
		"set role 'S3cr3t'":                                                         "SET",
		"S3cr3t from users":                                                         "",
		"SELECTED from users":                                                       "",
		"":                                                                          "",
		"select * from caf\u00e9":                                                   "SELECT",
		"select 1 from " + strings.Repeat("a", 80):                                  "SELECT",
		"select 'unclosed from users":                                               "SELECT",
	} {
		s := sqlShape([]byte(text), true)
		if got := strings.TrimSpace(s.verb + " " + s.table); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A word that may continue beyond the captured bytes is not taken for a name.
func TestSQLThatWasCut(t *testing.T) {
	for text, want := range map[string]string{
		"select * from users": "SELECT", "select * from users ": "SELECT users", "selec": "", "select": "", "select 1": "SELECT",
		"insert into \"user": "INSERT", "insert into shop.": "INSERT",
	} {
		s := sqlShape([]byte(text), false)
		if got := strings.TrimSpace(s.verb + " " + s.table); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzSQL(f *testing.F) {
	f.Add("select E'\\'' from \"a\".b where /* c */ $1 = $x$ $x$ --", true)
	f.Fuzz(func(t *testing.T, text string, whole bool) {
		s := sqlShape([]byte(text), whole)
		if s.verb != "" && sqlVerb([]byte(s.verb)) != s.verb || len(s.table) > 3*maxTable || strings.ContainsAny(s.table, "0123456789'\" \n$;") {
			t.Errorf("%q: %+v", text, s)
		}
	})
}
