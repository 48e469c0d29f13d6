// A loop that computes in one place and waits for a file in another.
const fs = require("fs");

function compute() {
	const end = Date.now() + 10;
	let x = 0;
	while (Date.now() < end) {
		for (let i = 0; i < 10000; i++) x += Math.sqrt(i);
	}
	return x;
}

function readPipe() {
	fs.readSync(0, Buffer.alloc(1)); // blocks until somebody writes
}

setInterval(compute, 30);
setInterval(readPipe, 40);

const text = "a".repeat(3000);

function search() {
	return [/^(.*)a(.*)b(.*)$/].map((pattern) => pattern.test(text)); // V8's own code calls, and is called
}

setInterval(search, 20);
