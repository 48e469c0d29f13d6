import { render } from "preact";
import { load } from "./model/load";
import { App } from "./views/app";
import "./page.css";

const root = document.getElementById("app")!;

load().then(
  (page) => {
    root.replaceChildren();
    render(<App page={page} />, root);
    document.documentElement.dataset.ready = "yes";
  },
  (e: Error) => { root.textContent = `The page cannot be shown: ${e.message}`; },
);
