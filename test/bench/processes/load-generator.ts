import { createHistogram } from 'node:perf_hooks';
import { serveParent, tellParent } from '../harness/in-child.ts';
import type { Load, LoadFigures, LoadRequest } from '../harness/load.ts';
import { openConnection } from './raw-connection.ts';

const NS_PER_MS = 1e6;
/** How often an open loop looks at what has fallen due. */
const TICK_MS = 1;

const tallies = () => {
  const accepted = createHistogram();
  const refused = createHistogram();
  const others: Record<string, number> = {};
  let answered = 0;
  let bytes = 0;
  return {
    count(status: number, ms: number, size: number) {
      const ok = status >= 200 && status < 300;
      (ok ? accepted : refused).record(Math.max(1, Math.round(ms * NS_PER_MS)));
      if (ok) {
        answered += 1;
        bytes = size;
      } else others[status] = (others[status] ?? 0) + 1;
    },
    figures: (seconds: number): LoadFigures => ({
      answered,
      others,
      perSecond: answered / seconds,
      p50: accepted.percentile(50) / NS_PER_MS,
      p95: accepted.percentile(95) / NS_PER_MS,
      p99: accepted.percentile(99) / NS_PER_MS,
      refusedP99: refused.count === 0 ? 0 : refused.percentile(99) / NS_PER_MS,
      bytes,
      seconds,
    }),
  };
};

const bytesOf = ({ origin }: Load, { method = 'GET', path, headers = {}, body = '' }: LoadRequest): Buffer => {
  const framed = body === '' ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) };
  const lines = Object.entries(framed).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: ${new URL(origin).host}\r\n${lines.join('')}\r\n${body}`);
};

const turns = (load: Load): (() => Buffer) => {
  const heads = load.requests.map((request) => bytesOf(load, request));
  let turn = 0;
  return () => {
    turn += 1;
    return heads[turn % heads.length] ?? Buffer.alloc(0);
  };
};

/** Each connection sends its next request when the answer is there. */
const closedLoop = async (load: Load): Promise<LoadFigures> => {
  const tally = tallies();
  const next = turns(load);
  const began = performance.now();
  const until = began + load.seconds * 1000;
  const drive = async () => {
    const connection = openConnection(load.origin);
    while (performance.now() < until) {
      const sent = performance.now();
      const { status, bytes } = await connection.send(next());
      tally.count(status, performance.now() - sent, bytes);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: load.connections }, drive));
  return tally.figures((performance.now() - began) / 1000);
};

/** Requests fall due at their rate; one that finds no free connection waits, and its wait counts. */
const openLoop = async (load: Load, rate: number): Promise<LoadFigures> => {
  const tally = tallies();
  const next = turns(load);
  const began = performance.now();
  const total = Math.round(load.seconds * rate);
  const free = Array.from({ length: load.connections }, () => openConnection(load.origin));
  const waiting: number[] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let due = 0;
  let over = 0;
  const serve = () => {
    while (waiting.length > 0 && free.length > 0) {
      const connection = free.pop();
      const dueAt = waiting.shift() ?? 0;
      void connection?.send(next()).then(({ status, bytes }) => {
        tally.count(status, performance.now() - dueAt, bytes);
        free.push(connection);
        over += 1;
        if (over === total) resolve();
        serve();
      });
    }
  };
  const timer = setInterval(() => {
    const now = performance.now();
    for (; due < total && began + (due * 1000) / rate <= now; due += 1) waiting.push(began + (due * 1000) / rate);
    serve();
  }, TICK_MS);
  await done;
  clearInterval(timer);
  for (const connection of free) connection.close();
  return tally.figures((performance.now() - began) / 1000);
};

serveParent((load: Load) => (load.rate === undefined ? closedLoop(load) : openLoop(load, load.rate)));
tellParent({});
