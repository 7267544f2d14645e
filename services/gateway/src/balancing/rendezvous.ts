const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

const mix = (text: string, seed: number): number => {
  let state = seed;
  for (let index = 0; index < text.length; index += 1) state = Math.imul(state ^ text.charCodeAt(index), FNV_PRIME);
  return state;
};

/** Spreads the entropy of all bits over all bits; FNV alone leaves the high ones poor. */
const avalanche = (value: number): number => {
  let state = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
};

/** The addresses in order of preference for a key (highest random weight): when one goes, only its own keys move. */
export const preferenceOf = (addresses: readonly string[], key: string): readonly string[] => {
  if (addresses.length < 2) return addresses;
  return addresses
    .map((address) => ({ address, weight: avalanche(mix(address, mix(key, FNV_OFFSET))) }))
    .sort((a, b) => b.weight - a.weight || (a.address < b.address ? -1 : 1))
    .map(({ address }) => address);
};
