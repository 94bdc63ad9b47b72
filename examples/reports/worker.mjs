// node examples/reports/worker.mjs     (as many processes as you like; SIGTERM drains one)
import { Fairloom } from 'fairloom';
import { backend } from './settings.mjs';
import { report } from './tasks.mjs';

const loom = new Fairloom({ backend: backend(), tasks: [report] });
// A short lease: when a worker dies, other workers take its reports a second later.
await loom.serve({ concurrency: 2, lease: '1s' });
