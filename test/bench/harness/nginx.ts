import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, stopChild, track } from './children.ts';
import { freePort } from './free-port.ts';
import { cpuMsOf, memoryOf } from './process-figures.ts';
import { answers } from './started-process.ts';

export interface NginxPlan {
  readonly upstream: string;
  /** Asked before every request (`auth_request`), null for nobody. */
  readonly identity: string | null;
}

export const haveNginx = (): boolean => spawnSync('nginx', ['-v']).status === 0;

const hostOf = (url: string): string => new URL(url).host;

const configOf = (folder: string, port: number, { upstream, identity }: NginxPlan): string => `
worker_processes 1;
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log crit;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream service { server ${hostOf(upstream)}; keepalive 64; keepalive_requests 100000000; }
  ${identity === null ? '' : `upstream identity { server ${hostOf(identity)}; keepalive 64; keepalive_requests 100000000; }`}
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Request-Id $request_id;
    proxy_buffers 16 16k;
    ${identity === null ? '' : 'location = /check { internal; proxy_pass http://identity; proxy_pass_request_body off; proxy_set_header Content-Length ""; }'}
    location / { ${identity === null ? '' : 'auth_request /check;'} proxy_pass http://service; }
  }
}`;

/** nginx with one worker, on the core of what is measured. */
export const startNginx = async (plan: NginxPlan): Promise<Child<{ readonly url: string }>> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'));
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  writeFileSync(config, configOf(folder, port, plan));
  const master = track(spawn('taskset', ['-c', '0', 'nginx', '-p', folder, '-c', config], { stdio: 'inherit' }));
  const url = `http://127.0.0.1:${port}`;
  while (!(await answers(`${url}/`))) if (master.exitCode !== null) throw new Error('nginx did not start');
  const pid = master.pid ?? 0;
  const worker = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
  return {
    pid: worker,
    ready: { url },
    cpuMs: () => cpuMsOf(worker),
    memory: () => memoryOf(worker),
    ask: () => Promise.reject(new TypeError('nginx answers no questions')),
    stop: async () => {
      // The worker ends by itself when its master is gone the quick way.
      master.kill('SIGTERM');
      await new Promise((resolve) => master.once('exit', resolve));
      await stopChild(master);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
