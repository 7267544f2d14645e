import { expect, it } from '@jest/globals';
import { runWithKubectl } from './stand-in.ts';

const OVERLAY = `kustomize*) printf 'kind: Namespace\\nmetadata:\\n  name: bubbles\\n' ;;`;
const JOBS = 'get\\ job\\ *) echo job.batch/topology ;;';
const CONDITIONS = 'get*job/topology*';

/** apply.sh in a cluster that answers so; the job succeeds unless `answers` say otherwise. */
const applied = (answers = '') =>
  runWithKubectl({
    command: ['apply.sh', 'overlay'],
    answers: `${answers}\n${OVERLAY}\n${JOBS}\n${CONDITIONS}) echo SuccessCriteriaMet Complete ;;`,
    env: { ROLLOUT_WAIT: '3s' },
  });

const SERVERS = 'component in (service,gateway)';
const failing = (pattern: string) => `*"${pattern}"*) echo 'TLS handshake timeout' >&2; exit 1 ;;`;

it('waits for the jobs before it touches a server', async () => {
  const { code, calls } = await applied();
  expect(code).toBe(0);
  expect(calls.indexOf('get --namespace bubbles job/topology')).toBeGreaterThan(0);
  expect(calls.indexOf(SERVERS)).toBeGreaterThan(calls.indexOf('get --namespace bubbles job/topology'));
});

it.each(['get statefulset', 'get job ', 'job/topology'])('touches no server when "%s" fails', async (pattern) => {
  const { code, calls } = await applied(failing(pattern));
  expect(code).not.toBe(0);
  expect(calls).not.toContain(SERVERS);
});

it('goes on when one question about a job gets no answer', async () => {
  const { code } = await applied(`${CONDITIONS}) [ "$(grep -c job/topology "$calls")" -gt 1 ] || exit 1; echo Complete ;;`);
  expect(code).toBe(0);
});

it('ends as soon as a job has failed, with what the job said', async () => {
  const { code, stderr, calls } = await applied(
    `${CONDITIONS}conditions*) echo FailureTarget Failed ;;\nlogs*) echo 'AMQP_URL: refused' ;;`,
  );
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'AMQP_URL: refused\njob.batch/topology has not succeeded: no server was changed\n' });
  expect(calls.match(/job\/topology/g)).toHaveLength(1);
  expect(calls).not.toContain(SERVERS);
});
