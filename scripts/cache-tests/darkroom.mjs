/** A running server. */

import { spawn } from "node:child_process";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const START_MS = 60_000;
const STOP_MS = 20_000;

/** Runs `body` with the base URL of a server that has an empty cache and these settings. */
export async function withServer(executable, settings, body) {
  const folder = await mkdtemp(join(tmpdir(), "cache-tests-"));
  const log = join(folder, "server.log");
  const errors = await open(log, "w");
  // Settings from the caller's environment must not reach the server.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("DARKROOM_")));
  const server = spawn(executable, ["serve", "--port=0", `--cache-dir=${join(folder, "cache")}`, ...settings], {
    env, stdio: ["ignore", "pipe", errors.fd],
  });
  const ended = new Promise((resolve) => server.once("exit", resolve).once("error", resolve));
  try {
    return await body(await addressOf(server));
  } catch (error) {
    console.error((await readFile(log, "utf8")).slice(-2000));
    throw error;
  } finally {
    server.kill("SIGTERM");
    const killer = setTimeout(() => server.kill("SIGKILL"), STOP_MS);
    await ended;
    clearTimeout(killer);
    await errors.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The address in the line that the server prints once it listens. */
async function addressOf(server) {
  const killer = setTimeout(() => server.kill("SIGKILL"), START_MS);
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line);
      if (found) return found[0];
    }
  } finally {
    clearTimeout(killer);
  }
  throw new Error("The server did not start. The end of its log is above.");
}
