module github.com/getdwell/dwell

go 1.26
