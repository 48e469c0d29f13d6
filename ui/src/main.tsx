import { render } from "preact";
import { load } from "./model/load";
import { App } from "./views/app";
import { DiffApp } from "./views/diff";
import "./page.css";

const root = document.getElementById("app")!;

load().then(
  (page) => {
    root.replaceChildren();
    render(page.kind === "diff" ? <DiffApp page={page} /> : <App page={page} />, root);
    document.documentElement.dataset.ready = "yes";
  },
  (e: Error) => { root.textContent = `The page cannot be shown: ${e.message}`; },
);
