import { spawn } from "node:child_process";
import { clearTimeout, setTimeout } from "node:timers";
import { environment } from "./tool.mjs";

/** A server that is killed where it does not end by itself in so many milliseconds. */
const patience = 10_000;

/** Starts a server, and waits until it says on stderr where it listens. */
export async function startServer(args, places) {
  const child = start(args, places, ["ignore", "ignore", "pipe"]);
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const listen = (chunk) => {
      said += chunk;
      const [, found] = /listening on (http:\/\/[\d.]+:\d+)/.exec(said) ?? [];
      if (found === undefined) return;
      // What it says of each request is read, so that it can say it, and let go.
      child.stderr.off("data", listen).resume();
      resolve(found);
    };
    child.stderr.on("data", listen);
    child.once("close", (code) => reject(new Error(`it ended with ${code}: ${said.trim()}`)));
  });
  return { url, stop: () => stop(child) };
}

function stop(child) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), patience);
    child.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    child.kill("SIGTERM");
  });
}

/** Runs node while this process goes on; gives what it wrote. */
export function runAside(args, places) {
  return new Promise((resolve, reject) => {
    const child = start(args, places, ["ignore", "pipe", "pipe"]);
    let [out, complaints] = ["", ""];
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (complaints += chunk));
    child.once("close", (code) =>
      code === 0 ? resolve(out) : reject(new Error(complaints.trim() || `it ended with ${code}`)),
    );
  });
}

function start(args, { directory, store }, stdio) {
  return spawn(process.execPath, args, { cwd: directory, env: environment(directory, store), stdio });
}
