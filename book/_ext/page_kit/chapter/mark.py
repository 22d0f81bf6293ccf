"""The book's mark: figure 1 of the paper as a glyph, two stacks and the way from one to the other."""

from __future__ import annotations

MARK = (
    '<svg class="glyph" viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="1.7" aria-hidden="true" '
    'stroke-linecap="round" stroke-linejoin="round"><rect x="3" y="11.5" width="11" height="16.5" rx="2.4"/>'
    '<rect x="18" y="5" width="11" height="23" rx="2.4"/>'
    '<path d="M8.5 11.5V8.2q0-2 2-2h2.7q2 0 2 2v6.4q0 1.9 1.9 1.9H18"/>'
    '<path d="M8.5 31v-3M23.5 31v-3M23.5 5V1" opacity=".75"/><g stroke="none">'
    '<rect class="part-code" x="5.6" y="21.6" width="5.8" height="3.6" rx=".8"/>'
    '<rect class="part-paper" x="5.6" y="14.6" width="5.8" height="3.6" rx=".8"/>'
    '<rect class="part-code" x="20.6" y="21.6" width="5.8" height="3.6" rx=".8"/>'
    '<rect class="part-code" x="20.6" y="14.7" width="5.8" height="3.6" rx=".8"/>'
    '<rect class="part-ours" x="20.6" y="7.8" width="5.8" height="3.6" rx=".8"/></g></svg>'
)
