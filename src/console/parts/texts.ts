/** Returns `9 pods`, `1 pod`, `10,000 pods`. */
export function countedText(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
