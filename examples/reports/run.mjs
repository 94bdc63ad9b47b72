// REDIS_URL=redis://localhost:6379 node examples/reports/run.mjs
//
// A server, two worker processes, 24 reports of three users; one worker is killed (kill -9) when a
// quarter of the reports is done. Prints one JSON line per report.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

const USERS = ['acme', 'globex', 'initech'];
const MONTHS = ['01', '02', '03', '04', '05', '06', '07', '08'].map((month) => `2026-${month}`);
/** The example takes 5 s; a busy machine may need this. */
const PATIENCE_MS = 60_000;

const env = { REPORTS_PREFIX: `reports-${process.pid}`, ...process.env };
const start = (file) => {
  const path = new URL(file, import.meta.url).pathname;
  return spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'inherit'] });
};

const server = start('server.mjs');
const workers = [start('worker.mjs'), start('worker.mjs')];
const children = [server, ...workers];

try {
  const [line] = await once(createInterface({ input: server.stdout }), 'line');
  const url = line.replace('listening on ', '');

  const ids = [];
  for (const user of USERS) {
    for (const month of MONTHS) {
      const response = await fetch(`${url}/users/${user}/reports?month=${month}`, {
        method: 'POST',
      });
      ids.push((await response.json()).id);
    }
  }

  const until = Date.now() + PATIENCE_MS;
  const done = await finished(url, ids, { count: ids.length / 4, until });
  workers[0].kill('SIGKILL');
  console.error(`killed a worker with ${done.length} of ${ids.length} reports done`);

  for (const result of await finished(url, ids, { count: ids.length, until })) {
    console.log(JSON.stringify(result));
  }
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(
    children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')),
  );
}

/** Polls until that many reports exist. */
async function finished(url, ids, { count, until }) {
  for (;;) {
    const reports = await Promise.all(
      ids.map(async (id) => (await fetch(`${url}/reports/${id}`)).json()),
    );
    const results = reports.filter(({ state }) => state === 'finished').map(({ result }) => result);
    if (results.length >= count) return results;
    if (Date.now() > until) throw new Error(`only ${results.length} of ${count} reports in time`);
    await pause(100);
  }
}
