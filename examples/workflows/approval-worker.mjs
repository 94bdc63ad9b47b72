// A worker process of approval.mjs: node approval-worker.mjs <redis url> <prefix>
import { Fairloom } from 'fairloom';
import { expense, hasty } from './approval-steps.mjs';
import { backendOf } from './settings.mjs';

const [url, prefix] = process.argv.slice(2);
const loom = new Fairloom({ backend: backendOf(url, prefix), tasks: [expense, hasty] });
await loom.serve({ concurrency: 2, lease: '1s' });
