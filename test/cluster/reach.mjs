import { connect } from 'node:net';

/** In a pod: to which of the addresses a connection can be made. */
const LIMIT_MS = 3000;

const canReach = (address) =>
  new Promise((resolve) => {
    const url = new URL(`tcp://${address}`);
    const socket = connect({ host: url.hostname, port: Number(url.port), timeout: LIMIT_MS });
    const done = (isOpen) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on('connect', () => done(true));
    socket.on('timeout', () => done(false));
    socket.on('error', () => done(false));
  });

const addresses = process.argv.slice(2);
const open = await Promise.all(addresses.map(canReach));
process.stdout.write(JSON.stringify(addresses.filter((_address, index) => open[index])));
