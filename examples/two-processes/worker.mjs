// node examples/two-processes/worker.mjs     (as many as you like on this machine; SIGTERM drains one)
import { Fairloom } from 'fairloom';
import { backend, thumbnail } from './tasks.mjs';

const loom = new Fairloom({ backend: backend(), tasks: [thumbnail] });
// A short lease: when a worker dies, other workers take its tasks a second later.
const serving = loom.serve({ concurrency: 2, lease: '1s' });
console.log('working');
await serving;
