package hypotheses

import "strings"

// batches returns the operations of well-known services that do many at once, by the
// end of the operation's name that they replace.
func batches() [][2]string {
	return [][2]string{
		{".GetItem", "BatchGetItem (up to 100 keys in one call)"},
		{".PutItem", "BatchWriteItem (up to 25 items in one call)"},
		{".DeleteItem", "BatchWriteItem (up to 25 items in one call)"},
		{".Query", "fewer queries: one with a range or an index that covers the keys"},
		{"SendMessage", "SendMessageBatch (up to 10 messages in one call)"},
		{"DeleteMessage", "DeleteMessageBatch (up to 10 messages in one call)"},
		{"Publish", "PublishBatch (up to 10 messages in one call)"},
		{"PutRecord", "PutRecords (up to 500 records in one call)"},
		{"GetParameter", "GetParameters (up to 10 names in one call)"},
		{"GetSecretValue", "BatchGetSecretValue (up to 20 secrets in one call)"},
	}
}

// batchFix says how many calls of an operation become one.
func batchFix(operation string) string {
	for _, b := range batches() {
		if strings.HasSuffix(operation, b[0]) {
			return "make one batch call in place of them: " + b[1]
		}
	}
	return "make one batch call in place of them (a list of ids, IN (...), MGET, a bulk endpoint); where the peer has none, make them at once"
}
