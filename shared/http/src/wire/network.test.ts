import { Server, Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { networkOf, shareConnections, siteOf } from './connections.ts';

describe('[GEN-14] the network that counts as one', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['64:ff9b::192.0.2.7', '192.0.2.7'],
    ['64:ff9b:1::192.0.2.7', '64:ff9b:1:0'],
    ['1:2:3:4:5:6:7::', '1:2:3:4'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['nonsense', 'nonsense'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1'],
    ['2001:db8::6', '2001:db8:0'],
  ])('of a customer with %s, is %s', (address, site) => {
    expect(siteOf(address)).toBe(site);
  });

  it('keeps no other out by connections from many of its networks', () => {
    const server = new Server();
    shareConnections(server, 3);
    const from = (remoteAddress: string) => {
      const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
      server.emit('connection', socket);
      return socket;
    };
    const greedy = ['2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1'].map(from);
    const other = from('2001:db8:2::1');
    expect([...greedy, other].map(({ destroyed }) => destroyed)).toEqual([false, false, true, false]);
  });
});
