std = 'luajit'
read_globals = { 'vim' }
globals = { 'vim.g', 'vim.b', 'vim.o', 'vim.bo', 'vim.wo' }
max_line_length = 120
self = false
