import { describe, expect, it } from '@jest/globals';
import { runWithKubectl } from './stand-in.ts';

const TEMPLATE = JSON.stringify({
  metadata: { name: 'any', namespace: 'bubbles' },
  spec: { backoffLimit: 4, template: { spec: { containers: [{ name: 'one' }] } } },
});
const WORDS = ['--display-name', "Ada's  $HOME *", '--dry-run'];

const COMMANDS = [
  ['command.sh', 'bubbles', 'create job admin-'],
  [
    'migrate.sh',
    'deploy/kubernetes/overlays/prod',
    'create --filename - --selector app.kubernetes.io/component=job,app.kubernetes.io/name=migration',
  ],
] as const;

describe.each(COMMANDS)('%s', (script, where, asksFor) => {
  const run = (answers: string, phase = 'Running') =>
    runWithKubectl({
      command: [script, where, ...WORDS],
      answers: `
  create*--dry-run=client*) echo '${TEMPLATE}' ;;
  create*--filename*) cat >>"$calls"; echo >>"$calls" ;;
  get\\ pod*) echo ${phase} ;;
  ${answers}`,
      env: { ROLLOUT_WAIT: '2s', START_SECONDS: '1' },
    });
  const isCreated = /^\{.*\}$/m;

  it('makes one job of its template, with the words as they are', async () => {
    const { code, calls } = await run('get*job/*) echo SuccessCriteriaMet Complete ;;');
    expect(code).toBe(0);
    expect(calls).toContain(asksFor);
    const { metadata, spec } = JSON.parse(isCreated.exec(calls)?.[0] ?? '');
    expect(metadata.name).toMatch(/^(admin|migration)-\d+-\d+$/);
    expect(spec.template.spec.containers).toEqual([{ name: 'one', args: WORDS }]);
    expect(spec.backoffLimit).toBe(0);
    expect(calls).toContain(`logs --namespace bubbles --follow job/${metadata.name}`);
  });

  it('ends as the job does when its log breaks off', async () => {
    expect(await run('get*job/*) echo Complete ;;\n  logs*) exit 1 ;;')).toMatchObject({ code: 0 });
  });

  it('ends with 1 when the job has failed', async () => {
    expect(await run('get*job/*) echo FailureTarget Failed ;;')).toMatchObject({ code: 1, stderr: '' });
  });

  it('says so when its pod does not begin', async () => {
    const { code, stderr, calls } = await run('', 'Pending');
    expect(code).toBe(1);
    expect(stderr).toContain('has not begun');
    expect(calls).not.toContain('logs');
  });

  it('makes no job when its template cannot be read', async () => {
    const { code, calls } = await runWithKubectl({ command: [script, where, ...WORDS], answers: 'create*--dry-run=client*) exit 1 ;;' });
    expect(code).not.toBe(0);
    expect(calls.match(/^create/gm)).toHaveLength(1);
  });
});
