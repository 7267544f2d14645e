import { expect, it } from '@jest/globals';
import { runWithKubectl } from './stand-in.ts';

const EXTERNAL_SECRET = 'externalsecrets.external-secrets.io';
const READS = `get ${EXTERNAL_SECRET} signup --namespace bubbles --output jsonpath={.status.syncedResourceVersion}`;
const escaped = (call: string) => call.replaceAll(/[ {}]/g, '\\$&');

/** `readsTheStore` says after how many looks the controller has done what the annotation asks for. */
const restarted = (hasExternalSecrets: boolean, readsTheStore: string) =>
  runWithKubectl({
    command: ['restart.sh', 'bubbles', 'signup', 'gateway', 'admin'],
    answers: `
  get\\ deployment\\ admin*) ;;
  get\\ deployment*) echo deployment/any ;;
  get\\ customresourcedefinition*) ${hasExternalSecrets ? `echo crd/${EXTERNAL_SECRET}` : ':'} ;;
  get*\\ signup\\ *--ignore-not-found*) echo ${EXTERNAL_SECRET}/signup ;;
  ${escaped(READS)}) if [ "$(grep -c syncedResourceVersion "$calls")" ${readsTheStore} ]; then echo 1-new; else echo 1-old; fi ;;
  get*conditions*) echo 'could not get secret data from provider' ;;`,
    env: { SYNC_SECONDS: '3' },
  });

it('restarts no server before its Secret was read from the store', async () => {
  const { code, calls } = await restarted(true, '-gt 2');
  expect(code).toBe(0);
  const asked = calls.split('\n').filter((call) => call.startsWith('annotate') || call === READS || call.startsWith('rollout'));
  expect(asked.map((call) => call.replace(/force-sync=\S+/, 'force-sync'))).toEqual([
    READS,
    `annotate ${EXTERNAL_SECRET} signup --namespace bubbles --overwrite force-sync`,
    READS,
    READS,
    'rollout restart --namespace bubbles deployment/signup',
    'rollout status --namespace bubbles deployment/signup --timeout 10m',
    'rollout restart --namespace bubbles deployment/gateway',
    'rollout status --namespace bubbles deployment/gateway --timeout 10m',
  ]);
});

it('restarts none when the store cannot be read, and says why', async () => {
  const { code, stderr, calls } = await restarted(true, '-gt 99');
  expect(code).toBe(1);
  expect(stderr).toContain('could not get secret data from provider');
  expect(stderr).toContain('no server was restarted');
  expect(calls).not.toContain('rollout');
});

it('asks for no such Secret in a cluster that does not know them', async () => {
  const { code, calls } = await restarted(false, '-gt 99');
  expect(code).toBe(0);
  expect(calls).not.toContain('annotate');
  expect(calls).toContain('rollout restart --namespace bubbles deployment/gateway');
});
