/** Base62 of a uuid, written independently of the product. */
export const shortId = (uuid: string): string => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let text = '';
  for (let rest = BigInt(`0x${uuid.replaceAll('-', '')}`); rest > 0n; rest /= 62n) text = digits[Number(rest % 62n)] + text;
  return text.padStart(22, '0');
};
