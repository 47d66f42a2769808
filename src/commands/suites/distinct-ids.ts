import { errorAt, formatPlace, type Report, type SourceValue } from '../../datasets/readers/source.ts';

/**
 * Reports an id that was there before, with both places: the dataset that is written would be refused by every command
 * after the import.
 * @param what names the thing in problems, such as `question`
 */
export function distinctIds(what: string, report: Report): (id: string, source: SourceValue) => void {
  const places = new Map<string, string>();
  return (id, source) => {
    const at = source.place(['id']);
    const before = places.get(id);
    if (before === undefined) places.set(id, formatPlace(at));
    else report(errorAt(at, `duplicate id "${id}"; it is already the id of the ${what} at ${before}`));
  };
}
