/** A growing list of numbers at 8 bytes each: a plain array of a million doubles costs more and is slower to sort. */
export function createNumberList(): { add(value: number): void; sorted(): Float64Array } {
  let values = new Float64Array(64);
  let length = 0;
  return {
    add(value) {
      if (length === values.length) {
        const larger = new Float64Array(length * 2);
        larger.set(values);
        values = larger;
      }
      values[length] = value;
      length += 1;
    },
    sorted: () => values.slice(0, length).sort(),
  };
}
