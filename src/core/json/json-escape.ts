/** Returns the escapes of all UTF-16 code units of a text in JSON: `\u` and four hexadecimal digits for each (RFC 8259, section 7). */
export function jsonEscapeOf(text: string): string {
  return Array.from({ length: text.length }, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`).join('');
}
