import { z } from 'zod';

const Mismatch = z.object({ mismatch: z.string(), path: z.string().optional(), type: z.string() });
const Failed = z.object({ mismatches: z.array(Mismatch) });
const Other = z.object({ message: z.string() });
/** What the verifier says of each interaction. */
const Verdict = z.object({
  interactionResults: z.array(
    z.object({ consumer: z.string(), provider: z.string(), description: z.string(), mismatch: z.unknown().optional(), result: z.string() }),
  ),
});

const MISSING = /missing the following keys: (.*)$/;

const changesOf = ({ mismatch, path, type }: z.infer<typeof Mismatch>): readonly string[] => {
  const [, keys] = MISSING.exec(mismatch) ?? [];
  if (keys !== undefined) return keys.split(', ').map((key) => `${path}.${key} is missing`);
  return [path === undefined ? `${type.replace('Mismatch', '').toLowerCase()}: ${mismatch}` : `${path}: ${mismatch}`];
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** A line for each field by which a provider breaks a consumer, out of what the verifier says; text that is no verdict is passed on. */
export const breachesIn = (said: string): readonly string[] => {
  const verdict = Verdict.safeParse(parsed(said));
  if (!verdict.success) return [said];
  return verdict.data.interactionResults
    .filter(({ result }) => result !== 'OK')
    .flatMap(({ consumer, provider, description, mismatch }) => {
      const failed = Failed.safeParse(mismatch);
      const other = Other.safeParse(mismatch);
      const changes = failed.success
        ? failed.data.mismatches.flatMap(changesOf)
        : [other.success ? other.data.message : JSON.stringify(mismatch)];
      return changes.map((change) => `${provider} breaks ${consumer}: ${change} (${description})`);
    });
};
