import { useEffect, useState } from 'preact/hooks';
import { changeQuery, query } from '../browser/location.ts';
import { SearchBox } from '../parts/search-box.tsx';

interface FilterField {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
}

/** The filters that a list of objects and a list of Jobs share. */
export const objectFilters: readonly FilterField[] = [
  { name: 'clusters', label: 'Clusters', hint: 'north,south' },
  { name: 'namespaces', label: 'Namespaces', hint: 'shop,default' },
  { name: 'labels', label: 'Labels', hint: 'app=web' },
  { name: 'where', label: 'Where', hint: 'spec.replicas>3' },
];

/** The filters of a list of objects. */
export const kindFilters: readonly FilterField[] = [
  ...objectFilters,
  { name: 'group', label: 'Group by', hint: 'cluster.region' },
  { name: 'columns', label: 'More columns', hint: 'spec.nodeName' },
];

/**
 * Fields for members of the query of the page. A change takes effect with Enter, or when the field loses the focus.
 *
 * @param search The label of the search box.
 */
export function Filters({ fields, search }: { readonly fields: readonly FilterField[]; readonly search: string }) {
  const used = fields.filter(({ name }) => (query.value.get(name) ?? '') !== '').length;
  return (
    <div class="filters">
      <SearchBox label={search} />
      <details open={used > 0}>
        <summary>{used === 0 ? 'Filters' : `Filters (${used})`}</summary>
        <form
          class="filter-fields"
          onSubmit={(event) => {
            event.preventDefault();
            if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
          }}
        >
          {fields.map((field) => (
            <FilterInput key={field.name} {...field} />
          ))}
          <button type="submit" class="visually-hidden" tabIndex={-1}>
            Apply
          </button>
        </form>
      </details>
    </div>
  );
}

function FilterInput({ name, label, hint }: FilterField) {
  const given = query.value.getAll(name).join(',');
  const [text, setText] = useState(given);
  useEffect(() => setText(given), [given]);
  return (
    <label>
      <span>{label}</span>
      <input
        value={text}
        placeholder={hint}
        spellcheck={false}
        autocapitalize="off"
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onChange={() => changeQuery({ [name]: text.trim() }, { isStep: true })}
      />
    </label>
  );
}
