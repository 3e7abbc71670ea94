/** The shells that have a completion script. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** The completion script of each shell. Each script runs `muster __complete` to get candidates. */
export const shellScripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `_muster() {
  local line directive=4
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :[0-9]*) directive="\${line#:}" ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(muster __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ $directive == 0 && \${#COMPREPLY[@]} == 0 ]]; then compopt -o default 2>/dev/null; fi
}
complete -F _muster muster
`,
  zsh: `#compdef muster
_muster() {
  local -a lines names
  local line name text directive=4
  lines=("\${(@f)$(muster __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :<-> ]]; then directive=\${line#:}; continue; fi
    name=\${line%%$'\\t'*}
    text=
    [[ $line == *$'\\t'* ]] && text=\${line#*$'\\t'}
    names+=("\${name//:/\\\\:}\${text:+:$text}")
  done
  if (( \${#names} )); then _describe -V muster names
  elif [[ $directive == 0 ]]; then _files
  fi
}
compdef _muster muster
`,
  fish: `function __muster_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    test -z "$last"; and set last ''
    set -l lines (muster __complete $words[2..-1] $last 2>/dev/null)
    string match -rv '^:[0-9]+$' -- $lines
    contains -- :0 $lines; and __fish_complete_path $last
end
complete -c muster -f -a '(__muster_complete)'
`,
};
