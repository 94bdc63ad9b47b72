/** The server of this layer, for child processes and for code that reads the environment. */
import { inject } from 'vitest';

process.env['FAIRLOOM_REDIS_URL'] = inject('redisUrl');
