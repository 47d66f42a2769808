// Starts the service, evaluates it, stops it: one command. Further arguments go to `assay run`.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { startService } from './service.mjs';

const token = randomBytes(16).toString('hex');
const service = await startService(token);
const suite = path.join(import.meta.dirname, 'suite.yaml');
const assay = path.resolve(import.meta.dirname, '../../../bin/assay.js');
const child = spawn(process.execPath, [assay, 'run', suite, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, ORDER_AGENT_URL: service.url, ORDER_AGENT_TOKEN: token },
});
child.on('exit', (code) => {
  service.close();
  process.exitCode = code ?? 1;
});
