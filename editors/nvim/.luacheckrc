-- What luacheck knows beside LuaJIT.
std = 'luajit'
globals = { 'vim' }
max_line_length = 120
