import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { untilSo } from '../chaos/support/within.ts';
import { send } from '../conformance/support/client.ts';
import { meetingsOf } from '../conformance/support/meetings.ts';
import type { Person } from '../conformance/support/world.ts';
import { openScene, type Scene } from './support/scene.ts';

let scene: Scene;
let site: Server;
let person: Person;
let video: string;
beforeAll(async () => {
  scene = await openScene();
  const meetings = meetingsOf(scene);
  const { ada, team } = await meetings.scene();
  person = ada;
  const { id } = (await meetings.join(ada, team)).json;
  const { bubble_id } = await meetings.move(id, { status: 'done' });
  video = (await send(scene.world.baseUrl, `/v1/bubbles/${bubble_id}`, { as: ada.pat })).json.media.video_url;
  site = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>App</title><video muted src="${video}"></video>`);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  site.close();
  await scene.close();
});

interface Player {
  muted: boolean;
  readonly ended: boolean;
  readonly duration: number;
  play(): Promise<void>;
}

/** Seconds of it, once it has played to its end. No script runs in its own page, so that no event tells. */
const played = async (page: Page): Promise<number> => {
  const player = page.locator('video');
  await player.evaluate((element) => {
    // What the locator finds, in the browser.
    const video = element as unknown as Player;
    video.muted = true;
    void video.play();
  });
  const look = () => player.evaluate((element) => (element as unknown as Player).ended);
  await untilSo({ what: 'the video has played' }, look);
  return player.evaluate((element) => (element as unknown as Player).duration);
};

describe('the video of a recording', () => {
  it('[MEET-09] plays in a page of another origin', async () => {
    const page = await scene.pageOf(person);
    // A listening TCP server has an address of this form.
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`);
    expect(await played(page)).toBeGreaterThan(1);
  });

  it('[MEET-09] plays where it is opened by itself', async () => {
    const page = await scene.pageOf(person);
    await page.goto(video);
    expect(await played(page)).toBeGreaterThan(1);
  });
});
