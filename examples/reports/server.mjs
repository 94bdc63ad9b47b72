// node examples/reports/server.mjs
//   POST /users/acme/reports?month=2026-03   202 { "id": … }
//   GET  /reports/<id>                       200 { "state": …, "result": … }
import { createServer } from 'node:http';
import { Fairloom } from 'fairloom';
import { backend } from './settings.mjs';
import { report } from './tasks.mjs';

/** The users of this shop, with their plans. */
const PLANS = { acme: { weight: 3 }, globex: { weight: 1 }, initech: { weight: 1 } };

const loom = new Fairloom({ backend: backend(), tasks: [report], requireUser: true });
for (const [user, plan] of Object.entries(PLANS)) await loom.users.set(user, plan);

const server = createServer(async (request, response) => {
  try {
    const { status, body } = await answer(request);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  } catch (error) {
    response.writeHead(error.retryable ? 503 : 500).end(JSON.stringify({ error: error.message }));
  }
});

async function answer({ method, url }) {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const [, first, name, last] = pathname.split('/').map(decodeURIComponent);
  if (method === 'POST' && first === 'users' && last === 'reports') {
    const month = searchParams.get('month') ?? '';
    if (!(name in PLANS) || !/^\d{4}-\d{2}$/.test(month)) {
      return { status: 400, body: { error: 'unknown user, or month is not YYYY-MM' } };
    }
    // A report that is requested again while it waits or runs is the same report.
    const handle = await loom.enqueue(report, { month }, { user: name, idempotencyKey: month });
    return { status: 202, body: { id: handle.id, created: handle.created } };
  }
  if (method === 'GET' && first === 'reports' && name !== undefined) {
    const found = await loom.tasks.get(name);
    if (found === undefined) return { status: 404, body: { error: 'no such report' } };
    return { status: 200, body: { state: found.state, result: found.result } };
  }
  return { status: 404, body: { error: 'no such page' } };
}

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});

process.once('SIGTERM', async () => {
  server.closeAllConnections();
  server.close();
  await loom.close();
});
