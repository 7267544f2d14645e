import { type Part, partsOf } from '@bubbles/services/deployment.ts';
import { describe, expect, it } from '@jest/globals';
import { kubernetesFiles } from './files.ts';

const parts = partsOf();
const signup = parts.find(({ name }) => name === 'signup');
if (signup === undefined) throw new Error('no part to make another of');
/** A later service that signup calls and that dials out. */
const later: Part = { ...signup, name: 'later', workspace: 'services/later', calls: ['bubbles-query'], consumes: ['bubble.ready.v1'] };
const withLater = parts.flatMap((part) => (part === signup ? [part, later] : [part]));
const filesOf = (some: readonly Part[]) => kubernetesFiles(null, some);

describe('the manifests of the parts', () => {
  it('come with a later service by themselves', () => {
    const [before, after] = [filesOf(parts), filesOf(withLater)];
    const added = [...after.keys()].filter((path) => !before.has(path));
    expect(
      added
        .filter((path) => path.startsWith('base/later/'))
        .map((path) => path.slice('base/later/'.length))
        .toSorted(),
    ).toEqual([
      ...['deployment.yaml', 'hpa.yaml', 'networkpolicy.yaml', 'pdb.yaml', 'service.yaml', 'serviceaccount.yaml', 'settings.env'],
    ]);
    expect(added).toContain('components/keda-rabbitmq/later.yaml');
    expect(after.get('base/bubbles-query/networkpolicy.yaml')).toContain('app.kubernetes.io/name: later');
    expect(after.get('base/networkpolicies.yaml')).toContain('- later');
    expect(after.get('components/external-secrets/externalsecrets.yaml')).toContain('bubbles/later');
    expect(after.get('components/prometheus/servicemonitors.yaml')).toContain('name: later');
  });

  it('hold the alert rules when there are some', () => {
    const groups = [{ name: 'bubbles', rules: [{ alert: 'OutboxIsOld', expr: 'a > 60' }] }];
    expect(kubernetesFiles(groups).get('components/prometheus/prometheusrule.yaml')).toContain('alert: OutboxIsOld');
    expect(filesOf(parts).has('components/prometheus/prometheusrule.yaml')).toBe(false);
  });

  it('cannot be made of a part that calls nobody who is there', () => {
    expect(() => filesOf(parts.filter(({ name }) => name !== 'bubbles-query'))).toThrow('calls bubbles-query, which is no part');
  });
});
