// A server whose customers see only their own tasks.
//
//   node examples/customer-view/server.mjs
//   curl -H 'authorization: Bearer of-acme' localhost:3000/tasks/api/v1/overview
import express from 'express';
import { Fairloom, memory, task } from 'fairloom';
import { httpApi, nodeHandler } from 'fairloom/http';

const resize = task('resize', { retries: 0 }, async ({ image }) => {
  if (image === 'broken') throw new Error('this is no image');
  return `${image}-small`;
});

const loom = new Fairloom({
  backend: memory(),
  tasks: [resize],
  requireUser: true,
  logLevel: 'silent',
});
for (const user of ['acme', 'zeta']) {
  for (const image of ['sun', 'broken']) {
    await loom.enqueue(resize, { image, password: `of ${user}` }, { user });
  }
}
await loom.worker().start();

// Use your own: a session, a token of your identity provider, …
const customers = new Map([
  ['Bearer of-acme', { user: 'acme', email: 'ann@acme.example' }],
  ['Bearer of-zeta', { user: 'zeta', email: 'zoe@zeta.example' }],
]);

const api = httpApi(loom, {
  access: ({ headers }) => {
    const customer = customers.get(headers.get('authorization') ?? '');
    if (customer === undefined) return 'deny';
    return { can: ['read', 'cancel', 'redrive'], users: [customer.user], by: customer.email };
  },
  redact: ['*.password'],
});

const app = express();
app.use('/tasks', nodeHandler(api));
const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/tasks/`);
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => loom.close());
});
