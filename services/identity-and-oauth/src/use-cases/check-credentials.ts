import type { Assertions } from '../ports.ts';
import { type Admission, type AdmissionPorts, admission, type Presented } from './admission.ts';

export interface Check extends Presented {
  /** The service that the assertion is for. */
  readonly audience: string;
}

export type CheckOutcome =
  | (Extract<Admission, { outcome: 'allowed' }> & { readonly assertion: string })
  | Exclude<Admission, { outcome: 'allowed' }>;

/** Admits credentials for other services, each with a statement of who calls; answers by index. */
export const checkCredentials = (ports: AdmissionPorts & { readonly assertions: Assertions }) => {
  const admit = admission(ports);
  return async (checks: readonly Check[]): Promise<CheckOutcome[]> => {
    const admissions = await admit(checks);
    return Promise.all(
      checks.map(async ({ audience }, i): Promise<CheckOutcome> => {
        const admitted = admissions[i] ?? { outcome: 'refused', refusal: 'unauthorized' };
        if (admitted.outcome !== 'allowed') return admitted;
        return { ...admitted, assertion: await ports.assertions.issue(admitted.credential, audience) };
      }),
    );
  };
};
