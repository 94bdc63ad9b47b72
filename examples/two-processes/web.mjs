// node examples/two-processes/web.mjs     and beside it, in another terminal: worker.mjs. No server is needed.
//   POST /users/ann/thumbnails?image=sun   202 { "id": … }
//   GET  /thumbnails/<id>                  200 { "state": …, "result": … }
import { createServer } from 'node:http';
import { Fairloom } from 'fairloom';
import { backend, thumbnail } from './tasks.mjs';

const loom = new Fairloom({ backend: backend(), tasks: [thumbnail], requireUser: true });

const server = createServer(async (request, response) => {
  try {
    const { status, body } = await answer(request);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  } catch (error) {
    // While another process takes over the folder, a call may fail; a repeated call gets an answer.
    response.writeHead(error.retryable ? 503 : 500).end(JSON.stringify({ error: error.message }));
  }
});

async function answer({ method, url }) {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const [, first, name, last] = pathname.split('/').map(decodeURIComponent);
  if (method === 'POST' && first === 'users' && last === 'thumbnails') {
    const image = searchParams.get('image') ?? '';
    // A repeated request gets the same task.
    const handle = await loom.enqueue(thumbnail, { image }, { user: name, idempotencyKey: image });
    return { status: 202, body: { id: handle.id } };
  }
  if (method === 'GET' && first === 'thumbnails' && name !== undefined) {
    const found = await loom.tasks.get(name);
    if (found === undefined) return { status: 404, body: { error: 'no such thumbnail' } };
    return { status: 200, body: { state: found.state, result: found.result } };
  }
  return { status: 404, body: { error: 'no such page' } };
}

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});

process.once('SIGTERM', async () => {
  server.closeAllConnections();
  server.close();
  await loom.close();
});
